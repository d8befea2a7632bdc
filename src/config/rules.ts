/** The rules of a crawl, as its configuration has them. */
import type { ConfiguredRules } from '../domain/crawl-settings.js';
import type { Config } from './schema.js';

export function configuredRules({ scope, maxDepth, include, exclude, traps }: Config): ConfiguredRules {
  return { scope, depthMax: maxDepth, include, exclude, traps };
}
