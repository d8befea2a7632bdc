/** The name by which sites know the crawler, from the configuration. */
import type { Config } from '../config/schema.js';
import { productTokenOf } from '../policy/robots/agent.js';
import { CommandError, EXIT } from './terminal.js';

/** Throws CommandError where `userAgent` has none. */
export function requiredProductToken({ userAgent }: Pick<Config, 'userAgent'>): string {
  const token = productTokenOf(userAgent);
  if (token !== null) return token;
  const message = 'userAgent must begin with a name of letters, - and _ only';
  const advice = "as in --set userAgent='ExampleBot/1.0 (+https://bot.example/)'";
  throw new CommandError('no_product_token', message, EXIT.usage, `userAgent ${userAgent}`, advice);
}
