/** `tls.ca` names a PEM file of certificates: whether it is there and whole is known before the first connection. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from './error.js';
import type { LoadedConfig } from './load.js';

/** Throws ConfigError. `words` says what the file system refuses. */
export function checkAuthorities(
  { config, origins }: LoadedConfig,
  words: (error: unknown) => string = (error) => (error as Error).message,
): void {
  const path = config.tls.ca;
  if (path === null) return;
  const wrong = (what: string) => new ConfigError(origins.get('tls.ca') as string, 'tls.ca', `tls.ca: ${what}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(`${words(error)}: ${path}`);
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
