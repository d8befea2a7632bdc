/**
 * Drawing a priority class at random: the higher it is, the likelier, and none starves.
 *
 * Class c weighs half of class c − 1, among the classes that have something to give. So with all of them waiting the
 * first gets half of the draws and the last still one in 255; a class that waits alone gets every draw.
 */
import { PRIORITY_CLASSES, type PriorityClass } from '../domain/record.js';

/** The class drawn; null when all are empty. `nonEmpty` is a set of bits, bit c for class c; `draw` is in [0, 1). */
export function drawClass(nonEmpty: number, draw: number): PriorityClass | null {
  let total = 0;
  for (let c = 0; c < PRIORITY_CLASSES; c++) if (nonEmpty & (1 << c)) total += weightOf(c);
  let left = draw * total;
  for (let c = 0; c < PRIORITY_CLASSES; c++) {
    if (!(nonEmpty & (1 << c))) continue;
    left -= weightOf(c);
    if (left < 0) return c as PriorityClass;
  }
  return null;
}

function weightOf(priority: number): number {
  return 1 << (PRIORITY_CLASSES - 1 - priority);
}
