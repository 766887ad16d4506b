import { cutText } from '@orrery/contracts';

/** A library's message as a sentence: with a capital letter and a full stop. */
export function asSentence(message: string): string {
  const text = message.trim();
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/** What a message quotes of somebody's text: at most `length` UTF-16 units and an ellipsis, never half a character. */
export const quoted = (text: string, length = 80): string => cutText(text, length);
