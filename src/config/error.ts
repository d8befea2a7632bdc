/** A configuration that can not be put to work: where it says so, and what is wrong. */
export class ConfigError extends Error {
  readonly code = 'config_invalid';

  constructor(
    /** `crawl.yaml:3:12`, `ORBWEAVER_SCOPE`, `--set scope=all`. */
    readonly where: string,
    /** The option, dotted; null where the text is no configuration at all. */
    readonly key: string | null,
    message: string,
  ) {
    super(message);
    this.name = 'ConfigError';
  }
}
