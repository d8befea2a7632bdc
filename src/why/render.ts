/** An answer for people: the URL, the verdict, then what stands behind it, topic by topic. */
import type { Topic, WhyAnswer } from './answer.js';
import { shown } from './topics.js';

const LABEL_WIDTH = 10;

/** Lines without line ends. `width` is that of the terminal. */
export function renderAnswer({ url, story }: WhyAnswer, width = 100): string[] {
  const lines = [shown(url)];
  for (const { topic, sentences } of story) {
    const isTold = topic === 'verdict';
    const indent = isTold ? 2 : 2 + LABEL_WIDTH;
    sentences.forEach((sentence, index) => {
      const label = index === 0 && !isTold ? LABELS[topic] : '';
      wrap(sentence, width - indent).forEach((line, row) => {
        const margin = row === 0 && label !== '' ? `  ${label.padEnd(LABEL_WIDTH)}` : ' '.repeat(indent);
        lines.push(`${margin}${line}`);
      });
    });
    if (isTold && story.length > 1) lines.push('');
  }
  return lines;
}

const LABELS: Readonly<Record<Topic, string>> = {
  verdict: '',
  spelling: 'spelling',
  found: 'found',
  rules: 'rules',
  robots: 'robots',
  visits: 'visits',
  queue: 'queue',
  host: 'host',
  next: 'next',
};

/** At spaces only: a URL is never broken. */
function wrap(sentence: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
