/** Names near to a mistyped one, for messages that say what was meant. */

const SUGGESTIONS_MAX = 3;

/**
 * At most three of `names`, best first: those whose last part is the same word in another place or case, then those
 * within a third of their length by edits.
 */
export function nearestNames(typed: string, names: Iterable<string>): string[] {
  const wanted = typed.toLowerCase();
  const rated: { readonly name: string; readonly distance: number }[] = [];
  for (const name of names) {
    const known = name.toLowerCase();
    const sameWord = lastPart(known) === lastPart(wanted);
    const distance = sameWord ? 0 : Math.min(editDistance(wanted, known), 1 + editDistance(wanted, lastPart(known)));
    if (distance <= Math.max(2, Math.floor(wanted.length / 3))) rated.push({ name, distance });
  }
  rated.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return rated.slice(0, SUGGESTIONS_MAX).map(({ name }) => name);
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
