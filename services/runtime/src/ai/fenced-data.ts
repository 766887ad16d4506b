import { hash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '@orrery/contracts';

/** Hex digits of a block's marker. */
const MARKER_LENGTH = 16;

/** Delete, the C1 control characters, and the separators of lines and paragraphs. */
const LINE_BREAKS = /[\u007f-\u009f\u2028\u2029]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * A block of data in a prompt: JSON on one line between two lines with a marker. Nothing in the data can end the block:
 * JSON text holds no line break (what JSON leaves alone and some take for one is escaped), and the marker is made
 * from a hash of the data, which no data can hold of itself. Equal data make the same block, so that servers can reuse
 * the beginning of a prompt.
 */
export function fencedData(name: string, data: JsonValue): string {
  const line = canonicalJson(data).replace(LINE_BREAKS, escaped);
  const marker = hash('sha256', `${name} ${line}`, 'hex').slice(0, MARKER_LENGTH);
  return `BEGIN DATA ${name} ${marker}\n${line}\nEND DATA ${name} ${marker}`;
}
