/**
 * Plug-ins that read pages, as a parser thread holds them: loaded once, found by MIME type, called under suspicion.
 *
 * Whatever one does, throw or answer nonsense, comes back as a `PlugInFault`; what it can't be trusted to come back
 * from (an endless loop, an exit) is told apart by the mark that is set before each call: whoever finds the thread dead
 * reads from it which plug-in had it in hand.
 */
import type { Content, ContentFacts, ContentHandler, ContentLink } from '../plugins/content-handler.js';
import type { LinkExtractor, TextPage } from '../plugins/link-extractor.js';
import type { PlugInModule, PlugInModules } from '../plugins/modules.js';
import type { FoundLink } from './links.js';

/** A module that is no plug-in. */
export class PlugInError extends Error {
  constructor(
    /** Of the module. */
    readonly where: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'PlugInError';
  }
}

/** What a plug-in did wrong on one page. */
export class PlugInFault extends Error {}

/** An answer that was checked. */
export interface HandledContent {
  readonly title?: string | null;
  readonly text?: string;
  readonly links?: readonly FoundLink[];
  /** JSON text. */
  readonly data?: string;
}

/** Called with the number of the plug-in that is about to run, from 1; with 0 when it has come back. */
export type Mark = (plugIn: number) => void;

export interface PlugIns {
  /** Null where no handler is for that type. */
  handlerOf(mime: string): ((content: Content) => HandledContent) | null;
  /** Those for that type; null where there are none. */
  extractorOf(mime: string): ((page: TextPage) => readonly FoundLink[]) | null;
}

export const NO_PLUG_INS: PlugIns = { handlerOf: () => null, extractorOf: () => null };

export const TITLE_CHARACTERS_MAX = 10_000;
export const DATA_BYTES_MAX = 1024 * 1024;
/** What carried a link that a plug-in found. */
export const PLUG_IN_ELEMENT = 'plugin';

const MARKUP_TYPES = ['text/html', 'application/xhtml+xml'];

/** Rejects with PlugInError. */
export async function loadPlugIns(modules: PlugInModules, mark: Mark = () => {}): Promise<PlugIns> {
  if (modules.contentHandlers.length + modules.linkExtractors.length === 0) return NO_PLUG_INS;
  const { contentHandlers: first } = modules;
  const handlers = await Promise.all(first.map((module, i) => loadHandler(module, guardBy(mark, module, i + 1))));
  const extractors = await Promise.all(
    modules.linkExtractors.map((module, i) => loadExtractor(module, guardBy(mark, module, first.length + i + 1))),
  );
  return {
    handlerOf: (mime) => handlers.find(({ takes }) => takes(mime))?.run ?? null,
    extractorOf: (mime) => {
      const able = extractors.filter(({ takes }) => takes(mime));
      return able.length === 0 ? null : (page) => able.flatMap(({ run }) => run(page));
    },
  };
}

/** What a mark stands for. */
export function plugInName({ contentHandlers, linkExtractors }: PlugInModules, mark: number): string {
  const module = [...contentHandlers, ...linkExtractors][mark - 1];
  return module === undefined ? `plug-in ${mark}` : nameOf(module);
}

// -- loading ----------------------------------------------------------------------------------------------------

/** Runs a call of a plug-in; throws PlugInFault. */
type Guard = <T>(call: () => T) => T;

interface Bound<Asked, Answer> {
  readonly takes: (mime: string) => boolean;
  readonly run: (asked: Asked) => Answer;
}

async function loadHandler(module: PlugInModule, guard: Guard): Promise<Bound<Content, HandledContent>> {
  const handler = (await exportOf(module)) as ContentHandler;
  if (typeof handler.read !== 'function') throw new PlugInError(module.href, 'a content handler has a method `read`');
  return {
    takes: typesMatcher(module, handler.types),
    run: (content) => guard(() => checkedFacts(handler.read(content, module.options))),
  };
}

async function loadExtractor(module: PlugInModule, guard: Guard): Promise<Bound<TextPage, readonly FoundLink[]>> {
  const extractor = (await exportOf(module)) as LinkExtractor;
  if (typeof extractor.links !== 'function')
    throw new PlugInError(module.href, 'a link extractor has a method `links`');
  return {
    takes: typesMatcher(module, extractor.types ?? MARKUP_TYPES),
    run: (page) => guard(() => checkedLinks(extractor.links(page, module.options))),
  };
}

async function exportOf(module: PlugInModule): Promise<object> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = await import(module.href);
  } catch (error) {
    throw new PlugInError(module.href, `it can not be loaded: ${reasonOf(error)}`, { cause: error });
  }
  const plugIn = loaded.default;
  if (typeof plugIn === 'object' && plugIn !== null) return plugIn;
  throw new PlugInError(module.href, 'a plug-in is an object, the default export of its module');
}

const TYPE_PATTERN = /^(\*|[\w!#$&^.+-]+)\/(\*|(?:\*\+)?[\w!#$&^.+-]+)$/;

function typesMatcher({ href }: PlugInModule, types: unknown): (mime: string) => boolean {
  if (!Array.isArray(types) || types.length === 0) throw new PlugInError(href, 'it names no MIME types');
  const patterns = types.map((type: unknown) => {
    if (typeof type !== 'string' || !TYPE_PATTERN.test(type))
      throw new PlugInError(href, `not a MIME type, nor a pattern as text/*: ${String(type)}`);
    const source = type.toLowerCase().replace(/[.+^$]/g, '\\$&');
    return new RegExp(`^${source.replaceAll('*', '[^/]+')}$`);
  });
  return (mime) => patterns.some((pattern) => pattern.test(mime));
}

function guardBy(mark: Mark, module: PlugInModule, number: number): Guard {
  return (call) => {
    mark(number);
    try {
      return call();
    } catch (error) {
      throw new PlugInFault(`${nameOf(module)}: ${reasonOf(error)}`);
    } finally {
      mark(0);
    }
  };
}

/** The end of its path: the whole of it is of this machine, and in no record. */
function nameOf({ href }: PlugInModule): string {
  if (!href.startsWith('file:')) return href.slice(0, href.indexOf(':') + 1);
  return decodeURIComponent(href.slice(href.lastIndexOf('/') + 1));
}

// -- answers ----------------------------------------------------------------------------------------------------

class Nonsense extends Error {
  override readonly name = 'nonsense';
}

function checkedFacts(answer: unknown): HandledContent {
  if (answer === null) return {};
  if (typeof answer !== 'object') throw new Nonsense(`it answered with ${typeof answer} instead of an object`);
  if ('then' in answer) throw new Nonsense('it answered with a promise: a content handler answers at once');
  const { title, text, links, data } = answer as ContentFacts;
  return {
    ...(title === undefined ? {} : { title: checkedTitle(title) }),
    ...(text === undefined ? {} : { text: checkedText('text', text) }),
    ...(links === undefined ? {} : { links: checkedLinks(links) }),
    ...(data === undefined ? {} : { data: checkedData(data) }),
  };
}

function checkedTitle(title: unknown): string | null {
  if (title === null || title === '') return null;
  const text = checkedText('title', title);
  if (text.length > TITLE_CHARACTERS_MAX) throw new Nonsense(`a title of ${text.length} characters`);
  return text;
}

function checkedText(what: string, text: unknown): string {
  if (typeof text !== 'string') throw new Nonsense(`${what} is ${typeof text} instead of a text`);
  return text;
}

function checkedLinks(links: unknown): FoundLink[] {
  if (!Array.isArray(links)) throw new Nonsense('links are no list');
  return links.map((link: unknown) => {
    const { href, rel } = typeof link === 'string' ? { href: link } : ((link ?? {}) as Partial<ContentLink>);
    if (typeof href !== 'string') throw new Nonsense('a link is a text, or has an href');
    return { href, element: PLUG_IN_ELEMENT, rel: rel === undefined ? null : checkedText('rel', rel) };
  });
}

function checkedData(data: unknown): string {
  const json = JSON.stringify(data);
  if (json === undefined) throw new Nonsense(`data is ${typeof data}, which is no JSON`);
  const bytes = Buffer.byteLength(json);
  if (bytes > DATA_BYTES_MAX) throw new Nonsense(`data of ${bytes} bytes; the bound is ${DATA_BYTES_MAX}`);
  return json;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
