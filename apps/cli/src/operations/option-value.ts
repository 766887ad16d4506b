import { StartupError } from '@orrery/service-kit';
import { readDocument, readValue } from '../documents/read-document.js';
import { isSentAs } from '../documents/yaml-text.js';
import type { Member } from './member.js';

/** The value of a member of a body, from the text of its option. @throws StartupError when it is none */
export async function optionValue(
  { name, kind }: Pick<Member, 'name' | 'kind'>,
  text: string,
): Promise<unknown> {
  switch (kind) {
    case 'number':
      return number(name, text);
    case 'flag':
      return flag(name, text);
    case 'list':
      return /^\s*\[/.test(text) ? readDocument(text) : text.split(',').map((one) => one.trim());
    case 'json':
      return readDocument(text);
    case 'value':
      return readValue(text);
    case 'text':
      return text;
  }
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !isSentAs(text, value))
    throw new StartupError(`${name} is a number, not "${text}".`);
  return value;
}

function flag(name: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new StartupError(`${name} is true or false, not "${text}".`);
  return text === 'true';
}

/** `key=value` pairs as an object. @throws StartupError for what is no pair, or a key that is given twice */
export function readPairs(pairs: readonly string[]): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new StartupError(`"${pair}" is no pair: write key=value, such as winner=HORSE_1.`);
    const key = pair.slice(0, at);
    if (entries.has(key)) throw new StartupError(`"${key}" is given twice.`);
    entries.set(key, readValue(pair.slice(at + 1)));
  }
  return Object.fromEntries(entries);
}
