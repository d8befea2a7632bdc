/** What a crawler rejects with: one class, whatever part of the engine refused. */
import { ControlError } from '../admin/control.js';
import { ConfigError } from '../config/error.js';
import { PlugInError } from '../page/plug-ins.js';
import { StoreError } from '../protocols/ports.js';

/** A refusal that can be acted on: what, where, what to do. */
export class CrawlerError extends Error {
  /**
   * Stable. `config_invalid`, `no_contact`, `no_product_token`, `plugin_invalid`, `not_running`, `pages_not_asked`,
   * `crawl_failed`, `pattern_invalid`, or one of the store: `store_locked`, `store_newer_schema`, `store_corrupt`,
   * `store_full`, `store_read_only`, `store_blocked`, `store_io`.
   */
  readonly code: string;
  /** The option, the file, the URL; null where none can be named. */
  readonly where: string | null;
  /** What can be done; null where nothing is known to help. */
  readonly advice: string | null;

  constructor(
    code: string,
    message: string,
    where: string | null = null,
    advice: string | null = null,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CrawlerError';
    this.code = code;
    this.where = where;
    this.advice = advice;
  }
}

/** As a CrawlerError, where it is a refusal; what is a fault of the program stays as it is. */
export function crawlerErrorFrom(error: unknown): unknown {
  if (error instanceof ConfigError) return new CrawlerError(error.code, error.message, error.where, null, error);
  if (error instanceof PlugInError) return new CrawlerError('plugin_invalid', error.message, error.where, null, error);
  if (error instanceof StoreError || error instanceof ControlError)
    return new CrawlerError(error.code, error.message, error.where, error.advice, error);
  return error;
}
