/**
 * HTTP dates in the three forms that a client must understand (RFC 9110 §5.6.7), the two old ones included.
 *
 * A form is written by hand, since no server of today writes the old ones; times are whole seconds, as the forms have it.
 */
export type DateForm = 'fixdate' | 'rfc850' | 'asctime';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** `atMs` in milliseconds since 1970; its fraction of a second is cut. */
export function httpDate(atMs: number, form: DateForm): string {
  const date = new Date(atMs);
  const [, day, month, year, time] = date.toUTCString().split(' ') as [string, string, string, string, string];
  const weekday = WEEKDAYS[date.getUTCDay()] ?? '';
  switch (form) {
    case 'fixdate':
      return date.toUTCString();
    case 'rfc850':
      return `${weekday}, ${day}-${month}-${year.slice(-2)} ${time} GMT`;
    case 'asctime':
      return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
  }
}
