/** A likely mistake that the service allowed. */
export interface Warning {
  /** RFC 6901 into what was sent; empty: all of it. */
  readonly pointer: string;
  readonly words: string;
}

/** What a service text says, and the warnings that stand after it as `Warning: <pointer>: <sentences>`. */
export function warningsIn(message: string): { text: string; warnings: Warning[] } {
  const [text = '', ...warnings] = message.split(/\s*\bWarning: /);
  return { text, warnings: warnings.map(warningOf) };
}

/** A key in the pointer may hold a placeholder with a colon in it: the pointer ends where a sentence begins. */
function warningOf(text: string): Warning {
  const [, pointer = '', words = text] = /^(\/.*?): (\p{Lu}.*)$/su.exec(text) ?? [];
  return { pointer, words };
}
