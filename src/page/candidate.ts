/**
 * From a spelling to a candidate: canonical form, key, host and origin, so that whoever admits it need neither parse
 * nor hash.
 */
import { hash } from 'node:crypto';
import type { Candidate, Source, UrlKey, UrlRefusal } from '../domain/url.js';
import { type Canonical, canonicalise } from '../policy/canonical.js';

export interface RefusedCandidate {
  readonly refusal: UrlRefusal;
}

/**
 * @param base what `input` is resolved against; null where it must be absolute.
 * @param element the element that carried it, `location` for a redirect, null for a seed.
 */
export function candidate(
  input: string,
  base: string | URL | null,
  source: Source,
  element: string | null,
  rel: string | null = null,
): Candidate | RefusedCandidate {
  const canonical = canonicalise(input, base ?? undefined);
  return canonical.ok ? candidateOf(canonical, source, element, rel) : { refusal: canonical.refusal };
}

export function candidateOf(
  canonical: Extract<Canonical, { ok: true }>,
  source: Source,
  element: string | null,
  rel: string | null = null,
): Candidate {
  const { url, parsed } = canonical;
  return { url, key: urlKey(url), host: parsed.host, origin: parsed.origin, source, element, rel };
}

/** The first 128 bits of the SHA-256 of a canonical URL, in hex. */
function urlKey(url: string): UrlKey {
  return hash('sha256', url, 'hex').slice(0, 32);
}

export function isRefused(made: Candidate | RefusedCandidate): made is RefusedCandidate {
  return 'refusal' in made;
}
