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
