/** The names of a JSON pointer (RFC 6901), without its escapes. */
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

export const below = (pointer: string, member: string | number): string =>
  `${pointer}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Whether a pointer leads to a part, or into it. */
export const isIn = (part: string, pointer: string): boolean =>
  pointer === part || pointer.startsWith(`${part}/`);

/** The part of an input or a state that a pointer leads to: `laps`, `car.speed`, `stamina of horse:H1`; undefined for all of it. */
export function partWords(pointer: string): string | undefined {
  const [first, ...others] = stepsOf(pointer);
  if (first === undefined) return undefined;
  const isInstance = first.includes(':');
  if (isInstance && others.length > 0) return `${others.join('.')} of ${first}`;
  return [first, ...others].join('.');
}

/** What the fields of a form are called, by the JSON pointers (RFC 6901) of what they send. */
export type FieldLabels = Readonly<Record<string, string>>;

/** The label of the field that a pointer leads to, or into; undefined where the form has none. */
export function labelAt(labels: FieldLabels, pointer: string): string | undefined {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
    if (labels[at] !== undefined) return labels[at];
  return undefined;
}

/** Names the field that a pointer leads to. */
export type NameField = (pointer: string) => string | undefined;

/** Service texts that are about one part of the request begin with its pointer. */
export function withoutPointer(
  text: string,
  pointers: readonly string[],
): { pointer?: string; text: string } {
  const pointer = pointers.find((one) => one !== '' && text.startsWith(`${one}: `));
  return pointer === undefined ? { text } : { pointer, text: text.slice(pointer.length + 2) };
}

/** What a form says about its own fields. */
export const fieldsOf = (labels: FieldLabels) => ({
  nameOf: (pointer: string) => labelAt(labels, pointer),
  shownElsewhere: (pointer: string) => labels[pointer] !== undefined,
});

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
