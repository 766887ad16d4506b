/** Characters that a terminal obeys in place of showing them, but for the ends of lines and tabs (U+0000–1F, U+007F–9F). */
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/**
 * A text without characters that a terminal obeys: what players have written moves no cursor and sets no title. Each is
 * escaped as JSON and quoted texts of YAML are, so that both stay what they are.
 */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
