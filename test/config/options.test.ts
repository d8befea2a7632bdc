import { expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type { ConfigOptions } from '../../src/config/options.js';
import type { configSchema } from '../../src/config/schema.js';
import { optionsType } from '../support/options-type.js';

it('the type of all options is the schema once more, with its sentences', async () => {
  await expect(optionsType()).toMatchFileSnapshot('../../src/config/options.ts');
});

it('what it takes the schema takes', () => {
  type Loose<T> = T extends readonly (infer Item)[]
    ? readonly Item[]
    : T extends object
      ? { readonly [K in keyof T]: Loose<T[K]> }
      : T;
  expectTypeOf<ConfigOptions>().toExtend<Loose<z.input<typeof configSchema>>>();
});
