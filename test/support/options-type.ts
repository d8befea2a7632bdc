/** The type of all options with their sentences, made from the schema: what `src/config/options.ts` must be. */
import { z } from 'zod';
import { allowedValues } from '../../src/config/load.js';
import { configSchema, OPTIONS, type Option } from '../../src/config/schema.js';

const HEAD = `/**
 * Every option as a program gives it: the schema once more, as a type with its sentences, so that an editor shows them
 * and no type of another package is needed. Made from the schema; a test holds it against it, and writes it anew with
 * \`npx vitest run test/config/options.test.ts -u\`.
 */
`;

export function optionsType(): string {
  const fields = Object.entries(configSchema.shape).map(([name, schema]) => {
    const option = OPTIONS.get(name);
    if (option !== undefined) return fieldOf(name, option, 1);
    const inside = [...OPTIONS.values()].filter(({ path }) => path[0] === name && path.length > 1);
    const fields = inside.map((option) => fieldOf(option.path[1] as string, option, 2)).join('');
    return `  /** ${schema.meta()?.description}. */\n  readonly ${name}?: {\n${fields}  };\n`;
  });
  return `${HEAD}export interface ConfigOptions {\n${fields.join('')}}\n`;
}

function fieldOf(name: string, option: Option, depth: number): string {
  const space = '  '.repeat(depth);
  const preset = JSON.stringify(option.schema.parse(undefined));
  const comment = `${space}/**\n${space} * ${option.description}\n${space} * ${capital(allowedValues(option))}. Default: \`${preset}\`.\n${space} */\n`;
  return `${comment}${space}readonly ${name}?: ${typeOf(schemaOf(option))};\n`;
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

function schemaOf({ schema }: Option): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ');
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'array') return `readonly ${typeOf(schema.items ?? {})}[]`;
  if (schema.type === 'object') return `Readonly<Record<string, ${typeOf(schema.additionalProperties ?? {})}>>`;
  return schema.type ?? 'string';
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
