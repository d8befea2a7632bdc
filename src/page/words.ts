/** Text that grows piece by piece, with each run of white space joined to one blank and none at either end. */
export class JoinedText {
  private joined = '';
  private isSpacePending = false;

  /** Adds a piece that holds no ASCII white space. */
  add(chars: string): void {
    if (this.isSpacePending) {
      this.joined += ' ';
      this.isSpacePending = false;
    }
    this.joined += chars;
  }

  space(): void {
    this.isSpacePending = this.joined.length > 0;
  }

  toString(): string {
    return this.joined;
  }
}

/** The same for a text that is there as a whole. */
export function joinSpace(text: string): string {
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}
