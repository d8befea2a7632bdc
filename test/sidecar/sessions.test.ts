/** Sessions: cookies under a name, bounded in number and age (S2). */
import { describe, expect, it } from 'vitest';
import type { SolvedCookie } from '../../src/sidecar/protocol.js';
import { createSessions } from '../../src/sidecar/sessions.js';

const PASS: SolvedCookie = {
  name: 'pass',
  value: '1',
  domain: 'a.test',
  path: '/',
  expires: -1,
  httpOnly: false,
  secure: false,
  sameSite: 'Lax',
};

describe('sessions', () => {
  it('give a visit what the one before it was left with', () => {
    const sessions = createSessions();
    expect(sessions.cookiesOf('one', 0)).toEqual([]);
    sessions.keep('one', [PASS], 1);
    expect(sessions.cookiesOf('one', 2)).toEqual([PASS]);
    expect(sessions.cookiesOf('two', 2)).toEqual([]);
    expect(sessions.list(2)).toEqual(['one', 'two']);
  });

  it('that are created again keep what they hold', () => {
    const sessions = createSessions();
    sessions.create('one', 0);
    sessions.keep('one', [PASS], 0);
    sessions.create('one', 1);
    expect(sessions.cookiesOf('one', 1)).toEqual([PASS]);
  });

  it('that were destroyed stay so, even when a visit of theirs ends later', () => {
    const sessions = createSessions();
    sessions.create('one', 0);
    expect(sessions.destroy('one')).toBe(true);
    expect(sessions.destroy('one')).toBe(false);
    sessions.keep('one', [PASS], 1);
    expect(sessions.list(1)).toEqual([]);
  });

  it('S2: of one more than may be, the one that was left alone longest goes', () => {
    const sessions = createSessions({ sessionsMax: 2, idleMsMax: 1_000 });
    sessions.create('one', 0);
    sessions.create('two', 1);
    expect(sessions.list(1)).toEqual(['one', 'two']);
    sessions.cookiesOf('one', 2);
    sessions.create('three', 3);
    expect(sessions.list(3)).toEqual(['one', 'three']);
  });

  it('S2: are kept for their time since they were used last, and no longer', () => {
    const sessions = createSessions({ sessionsMax: 2, idleMsMax: 1_000 });
    sessions.create('one', 0);
    sessions.keep('one', [PASS], 500);
    expect(sessions.list(1_500)).toEqual(['one']);
    expect(sessions.list(1_501)).toEqual([]);
    expect(sessions.cookiesOf('one', 1_501)).toEqual([]);
  });
});
