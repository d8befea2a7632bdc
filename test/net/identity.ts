/** A certificate authority of our own, and what it vouches for: made by openssl for the length of a test file. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** The authority's certificate: for `tls.ca`. */
  readonly caFile: string;
  readonly ca: string;
  /** A key and a certificate for these names (`DNS:site.test,IP:127.0.0.1`). */
  issue(names: string, days?: number): Identity;
  remove(): void;
}

export function authority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Trial');
  let issued = 0;
  return {
    caFile: at('ca.pem'),
    ca: readFileSync(at('ca.pem'), 'utf8'),
    issue: (names, days = 2) => {
      const own = (name: string) => at(`${issued}-${name}`);
      issued++;
      writeFileSync(own('extensions'), `subjectAltName=${names}\nbasicConstraints=CA:FALSE\n`);
      openssl('req', ...key, '-keyout', own('key'), '-out', own('wish'), '-subj', '/CN=site');
      const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
      openssl(
        'x509',
        '-req',
        '-in',
        own('wish'),
        ...by,
        '-days',
        `${days}`,
        '-extfile',
        own('extensions'),
        '-out',
        own('cert'),
      );
      return { key: readFileSync(own('key'), 'utf8'), cert: readFileSync(own('cert'), 'utf8') };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
