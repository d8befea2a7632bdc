/** Rows of words in columns; numbers stand to the right. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, i) => {
        const cell = cells[i] ?? '';
        return align === 'right' ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number);
      })
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/** Labels and what they say, the labels of one width. */
export function formatPairs(pairs: readonly (readonly [label: string, text: string])[]): string[] {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`.trimEnd());
}
