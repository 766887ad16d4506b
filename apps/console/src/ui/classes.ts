/** Class names in one string; what is false or undefined is left out. */
export const classes = (...names: readonly (string | false | undefined)[]): string =>
  names.filter(Boolean).join(' ');

/** A region that scrolls takes the focus, so that the keyboard can scroll it. */
export const SCROLLABLE = { tabIndex: 0 };
