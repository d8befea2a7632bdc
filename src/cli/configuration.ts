/** The configuration that a command's options, the environment and files come to. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ConfigError } from '../config/error.js';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import { fileProblem, unreadable } from './files.js';
import type { ConfigOptions } from './options.js';

/** Throws ConfigError, or CommandError where the file can't be read. */
export function readConfig(options: ConfigOptions): LoadedConfig {
  const sources = { cores: availableParallelism(), environment: process.env, assignments: options.set };
  if (options.config === undefined) return loadConfig(sources);
  return loadConfig({ ...sources, file: { path: options.config, text: readText(options.config) } });
}

/** `tls.ca` names a PEM file of certificates. Throws ConfigError. */
export function checkAuthorities({ config, origins }: LoadedConfig): void {
  const path = config.tls.ca;
  if (path === null) return;
  const wrong = (what: string) => new ConfigError(origins.get('tls.ca') as string, 'tls.ca', `tls.ca: ${what}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(`${fileProblem(error)[0]}: ${path}`);
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw wrong(`no certificate in PEM form is in ${path}`);
  certificates.forEach((pem, index) => {
    try {
      new X509Certificate(pem);
    } catch {
      throw wrong(`certificate ${index + 1} in ${path} is broken`);
    }
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(error, path);
  }
}
