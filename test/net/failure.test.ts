/** Whose fault it is that no connection came about: the host's, or this machine's own. */
import { describe, expect, it } from 'vitest';
import { connectFault } from '../../src/net/failure.js';
import { judgeTransport } from '../../src/policy/judgement.js';

function judged(code: string) {
  const { code: named, detail } = connectFault(
    Object.assign(new Error(`connect ${code} 127.0.0.1:80`), { code }),
    false,
  );
  const failure = {
    kind: 'failure',
    code: named,
    detail,
    status: null,
    durationMs: 0,
    reusedConnection: false,
  } as const;
  return judgeTransport(failure, { hadValidators: false, nowWallMs: 0 });
}

describe('a connection that does not come about', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('L2: %s is ours: no delivery, nothing for the breaker', (code) => {
    expect(judged(code)).toMatchObject({ next: 'host_waits', delivery: 0, breaker: 'none' });
  });

  it.each(['ECONNREFUSED', 'EHOSTUNREACH', 'EADDRNOTAVAIL'])('%s is the host’s', (code) => {
    expect(judged(code)).toMatchObject({ code: 'connect_failed', delivery: 1, breaker: 'failure' });
  });
});
