/** Credentials in texts that people and files get to see: none may stay in them. */

const REPLACEMENT = '[redacted]';
const SECRET_FIELD = /authorization|cookie|password|passwd|secret|apikey|token/i;
/** `user:password@` or `user@` between the slashes and the host. */
const CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^/?#"'<>\r\n]*@/gi;
/** The same where somebody left the scheme out. */
const BARE_CREDENTIALS = /(^|\s)[^\s/?#@:"'<>]+:[^\s/?#@"'<>]+@/g;

/** The same text with the credentials of every URL in it replaced. */
export function withoutCredentials(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(CREDENTIALS, `$1${REPLACEMENT}@`).replace(BARE_CREDENTIALS, `$1${REPLACEMENT}@`);
}

type Fields = Readonly<Record<string, string | number | boolean | null>>;

/** Fields of a log line: values of those that are named for secrets are replaced as a whole. */
export function fieldsWithoutCredentials(fields: Fields): Fields {
  const clean: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (SECRET_FIELD.test(name) && value !== null) clean[name] = REPLACEMENT;
    else clean[name] = typeof value === 'string' ? withoutCredentials(value) : value;
  }
  return clean;
}
