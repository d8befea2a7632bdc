/**
 * One request and the way its answer goes out.
 *
 * The end of an exchange is written down exactly once: by the manner that sends the last bytes, just before it does, or
 * by the socket's close when the client went first. A kill that was aimed at this exchange fires on the way.
 */
import type { ServerResponse } from 'node:http';
import type { Answer } from './answers.js';
import { httpDate } from './dates.js';
import type { EndEvent } from './witness.js';

/** What an answer does at its turning points. */
export interface Exchange {
  readonly response: ServerResponse;
  /** False for HEAD: headers go out, bytes don't. */
  readonly withBody: boolean;
  /** Writes the end down, once; later calls are ignored. */
  end(status: number | null, how: EndEvent['how']): void;
  /** Set where a kill is to fire when half of the body is out. */
  readonly halfway: (() => void) | undefined;
  readonly endlessMs: number;
}

/** After a kill in mid-answer, time for the killed client's socket to close before the rest follows. */
const AFTER_KILL_MS = 20;
const ENDLESS_STEP_MS = 100;

/** Sends `answer` in its manner. */
export function send(answer: Answer, exchange: Exchange): void {
  const { manner } = answer;
  if (manner.kind === 'reset') sendReset(exchange);
  else if (manner.kind === 'truncation') sendHalf(answer, manner.framing, exchange);
  else if (!exchange.withBody) sendHead(answer, exchange);
  else if (manner.kind === 'slow') after(manner.delayMs, exchange, () => sendWhole(answer, exchange));
  else if (manner.kind === 'chunks') sendSteps(answer, 3, 0, exchange);
  else if (manner.kind === 'drip') sendSteps(answer, manner.steps, manner.stepMs, exchange);
  else if (manner.kind === 'endless') sendEndless(answer, exchange);
  else sendWhole(answer, exchange);
}

function sendWhole(answer: Answer, exchange: Exchange): void {
  writeHead(answer, exchange, 'length');
  if (exchange.halfway === undefined) {
    finish(answer, answer.body, exchange);
    return;
  }
  const half = answer.body.length >> 1;
  exchange.response.write(answer.body.subarray(0, half), () => {
    exchange.halfway?.();
    after(AFTER_KILL_MS, exchange, () => finish(answer, answer.body.subarray(half), exchange));
  });
}

function sendHead(answer: Answer, exchange: Exchange): void {
  writeHead(answer, exchange, 'length');
  finish(answer, Buffer.alloc(0), exchange);
}

function sendSteps(answer: Answer, steps: number, stepMs: number, exchange: Exchange): void {
  const { body, manner } = answer;
  writeHead(answer, exchange, manner.kind === 'chunks' ? 'chunks' : 'length');
  const stepBytes = Math.ceil(body.length / steps);
  const step = (n: number): void => {
    if (n === steps >> 1) exchange.halfway?.();
    const piece = body.subarray(n * stepBytes, (n + 1) * stepBytes);
    if (n === steps - 1) finish(answer, piece, exchange);
    else {
      exchange.response.write(piece);
      after(stepMs, exchange, () => step(n + 1));
    }
  };
  step(0);
}

function sendEndless(answer: Answer, exchange: Exchange): void {
  writeHead(answer, exchange, 'chunks');
  exchange.halfway?.();
  const step = (leftMs: number): void => {
    if (leftMs <= 0) finish(answer, Buffer.from('\n'), exchange);
    else {
      exchange.response.write('<p>and so on\n');
      after(ENDLESS_STEP_MS, exchange, () => step(leftMs - ENDLESS_STEP_MS));
    }
  };
  step(exchange.endlessMs);
}

function sendHalf(answer: Answer, framing: 'length' | 'chunks', exchange: Exchange): void {
  const { response } = exchange;
  writeHead(answer, exchange, framing);
  response.write(answer.body.subarray(0, answer.body.length >> 1), () => {
    exchange.halfway?.();
    exchange.end(answer.status, 'reset');
    response.destroy();
  });
}

function sendReset(exchange: Exchange): void {
  exchange.halfway?.();
  exchange.end(null, 'reset');
  exchange.response.socket?.resetAndDestroy();
}

function writeHead(answer: Answer, { response }: Exchange, framing: 'length' | 'chunks'): void {
  const length = framing === 'length' ? ['Content-Length', String(answer.body.length)] : [];
  response.writeHead(answer.status, [...answer.headers, ...datesOf(answer), ...length]);
}

/** By the same wrong clock, so that the time between both is right (RFC 9110 §6.6.1). */
function datesOf({ dated, retryAfterSeconds }: Answer): string[] {
  if (dated === undefined || retryAfterSeconds === undefined) return [];
  const { form, clockSkewSeconds } = dated;
  const nowMs = Math.floor(Date.now() / 1_000 + clockSkewSeconds) * 1_000;
  return ['Date', httpDate(nowMs, form), 'Retry-After', httpDate(nowMs + retryAfterSeconds * 1_000, form)];
}

function finish(answer: Answer, rest: Buffer, exchange: Exchange): void {
  const { response } = exchange;
  exchange.end(answer.status, 'done');
  const { socket } = response;
  response.end(rest, answer.manner.kind === 'hang-up' ? () => socket?.destroy() : undefined);
}

/** Goes on later, unless the client has left. */
function after(delayMs: number, { response }: Exchange, next: () => void): void {
  const goOn = (): void => {
    if (!response.destroyed) next();
  };
  if (delayMs === 0) setImmediate(goOn);
  else setTimeout(goOn, delayMs);
}
