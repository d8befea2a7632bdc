/**
 * Does the time to read a page grow with its length alone, however its elements are nested?
 *
 * Each kind of nesting is read at one size and at four times that size. Linear reading takes four times as long; work
 * that grows with the depth would take sixteen. The figures are microseconds a kilobyte at either size, and the factor
 * between the two times.
 */
import { readHtml } from '../src/page/html.js';
import type { Bench, Figures } from './result.js';

/** What is repeated, and how often at the smaller size. */
const KINDS: Readonly<Record<string, readonly [piece: string, count: number]>> = {
  'nested elements': ['<div>', 20_000],
  'bold, never closed': ['<b>', 80_000],
  'list items': ['<li>', 64_000],
  'tables in tables': ['<table><tr><td>', 20_000],
  'fonts and italics': ['<font><i>', 30_000],
  'svg in svg': ['<svg><g>', 20_000],
  'integration points': ['<svg><foreignObject><p>', 10_000],
  forms: ['<form><fieldset disabled><select><option>', 10_000],
  templates: ['<template>', 20_000],
  'srcset gaps': [', ', 100_000],
};

const GROWTH = 4;

export const run: Bench = async ({ rounds }) => {
  const subjects: Record<string, { figures: Figures; cpuMicrosPerPage: Figures }> = {};
  let factorMax = 0;
  for (const [kind, [piece, count]] of Object.entries(KINDS)) {
    const small = pageOf(kind, piece, count);
    const large = pageOf(kind, piece, count * GROWTH);
    const smallMicros = bestMicros(small, rounds ?? 7);
    const largeMicros = bestMicros(large, rounds ?? 7);
    const factor = largeMicros / smallMicros;
    factorMax = Math.max(factorMax, factor);
    subjects[kind] = {
      figures: {
        'µs a kB': tenths((smallMicros / small.length) * 1_000),
        [`µs a kB, ${GROWTH} times as long`]: tenths((largeMicros / large.length) * 1_000),
        'times as much time': tenths(factor),
      },
      cpuMicrosPerPage: { read: Math.round(smallMicros) },
    };
  }
  return { name: 'nesting', figures: { 'largest factor': tenths(factorMax), linear: GROWTH }, subjects };
};

function pageOf(kind: string, piece: string, count: number): string {
  const repeated = piece.repeat(count);
  return kind === 'srcset gaps' ? `<img srcset="${repeated}x">` : `${repeated}<a href=deep>x`;
}

function bestMicros(page: string, rounds: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    readHtml(page, { forms: true, productToken: 'bench' });
    best = Math.min(best, (performance.now() - startedMs) * 1_000);
  }
  return best;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
