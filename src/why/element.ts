/** What carried the link that a URL was found by, where its record has kept it. */
import type { UrlRecord } from '../domain/record.js';

export function elementOf(record: UrlRecord): string | null {
  return (record as UrlRecord & { readonly element?: string | null }).element ?? null;
}
