/**
 * A file of seeds: a line each. UTF-8 with or without a byte order mark, any line end, blank lines and lines that begin
 * with `#` left out. A line beyond the bound is cut, never held whole: it is no URL anyway.
 */
export interface SeedLine {
  /** 1-based, as an editor counts. */
  readonly line: number;
  readonly text: string;
}

/** Longer than any URL that is taken. What is cut stays longer than that, and is refused as such. */
export const LINE_CHARACTERS_MAX = 16_384;

export async function* seedLines(chunks: AsyncIterable<string>): AsyncGenerator<SeedLine> {
  let rest = '';
  let line = 0;
  let endsInReturn = false;
  for await (const chunk of chunks) {
    let text = line === 0 && rest === '' ? chunk.replace(/^\uFEFF/, '') : chunk;
    // One line end may be torn between two chunks.
    if (endsInReturn && text.startsWith('\n')) text = text.slice(1);
    if (text === '') continue;
    endsInReturn = text.endsWith('\r');
    const parts = text.split(/\r\n|\n|\r/);
    for (const part of parts.slice(0, -1)) {
      line += 1;
      const whole = seedOn(line, rest + part);
      rest = '';
      if (whole !== null) yield whole;
    }
    rest = (rest + (parts.at(-1) ?? '')).slice(0, LINE_CHARACTERS_MAX);
  }
  const last = seedOn(line + 1, rest);
  if (last !== null) yield last;
}

function seedOn(line: number, raw: string): SeedLine | null {
  const text = raw.slice(0, LINE_CHARACTERS_MAX).trim();
  return text === '' || text.startsWith('#') ? null : { line, text };
}
