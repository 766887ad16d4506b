import { quoted } from '../../messages/error-text.js';

/**
 * How a reason quotes an expression and what it has computed. Only who may see the template is told its text, and what is
 * computed may be a text that stands in it.
 */
export interface Telling {
  /** A name that stands in the expression. */
  written(name: string): string;
  /** What has come of the expression. */
  computed(value: string | number | bigint, length?: number): string;
  /** What to write instead. */
  advice(text: () => string): string;
}

/** For those who may see the template. */
export const WHOLE: Telling = {
  written: (name) => `"${quoted(name)}"`,
  computed: (value, length) => (typeof value === 'string' ? `"${quoted(value, length)}"` : String(value)),
  advice: (text) => text(),
};

/** For everybody: of what was computed only what the input holds as well, which its caller has written. */
export const toStrangers = (input: unknown): Telling => ({
  written: () => '"…"',
  computed: (value, length) => {
    if (holds(input, String(value))) return WHOLE.computed(value, length);
    return typeof value === 'string' ? '"…"' : '…';
  },
  advice: () => '',
});

/** Whether a text, a number or a key in a JSON value reads like this. */
const holds = (value: unknown, text: string): boolean =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).some(([key, part]) => key === text || holds(part, text))
    : (typeof value === 'string' || typeof value === 'number') && String(value) === text;
