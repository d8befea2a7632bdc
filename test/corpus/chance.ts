/** Chance from a seed, and the words that made pages are filled with. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  odds(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  /** The text, or nothing. */
  maybe(share: number, text: string): string {
    return this.odds(share) ? text : '';
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.pick([...'0123456789abcdef'])).join('');
  }

  times(least: number, most: number, make: (i: number) => string, between = ''): string {
    return Array.from({ length: this.between(least, most) }, (_, i) => make(i)).join(between);
  }

  word(): string {
    return this.pick(WORDS);
  }

  name(): string {
    const word = this.word();
    return word[0]?.toUpperCase() + word.slice(1);
  }

  sentence(): string {
    return `${this.name()} ${this.times(5, 14, () => this.word(), ' ')}.`;
  }

  /** About so many characters. */
  prose(characters: number): string {
    let text = '';
    while (text.length < characters) text += `${text === '' ? '' : ' '}${this.sentence()}`;
    return text;
  }

  /** A script that does something lengthy with names of its own. */
  script(characters: number): string {
    let text = '(function(){"use strict";';
    while (text.length < characters) {
      const name = `_${this.hex(4)}`;
      text += this.pick([
        `var ${name}=[${this.times(3, 12, () => `0x${this.hex(3)}`, ',')}];`,
        `function ${name}(a,b){for(var i=0;i<a.length;i++){b^=a.charCodeAt(i)*${this.between(2, 99)}}return b}`,
        `if(navigator["${this.word()}"]){document.cookie="${name}="+Date.now()}`,
        `var ${name}=document.createElement("canvas").getContext("2d");`,
      ]);
    }
    return `${text}})();`;
  }

  styles(characters: number): string {
    let text = '';
    while (text.length < characters) {
      text += `.${this.word()}-${this.hex(3)}{margin:${this.between(0, 40)}px;color:#${this.hex(6)};display:${this.pick(['flex', 'block', 'grid'])}}\n`;
    }
    return text;
  }
}

const WORDS =
  'river stone garden window letter market bridge summer carpet engine harbour pepper silver needle thunder velvet winter yellow basket candle dragon feather glacier hammer island jungle kettle lantern meadow number orchard pencil quarry ribbon saddle timber umbrella valley walnut anchor button copper desert ember forest granite honey ivory jacket kernel ladder mirror nutmeg opal parcel quilt record signal tunnel urban violet wagon zebra'.split(
    ' ',
  );

/** Without what is between tags for people only. */
export function minified(html: string): string {
  return html.replace(/>\s+</g, '><').replace(/\n\s*/g, '');
}
