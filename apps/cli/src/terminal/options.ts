import { InvalidArgumentError } from 'commander';

/** Reads a number whose text has this form. @throws InvalidArgumentError with the advice */
export const numberLike =
  (form: RegExp, advice: string) =>
  (text: string): number => {
    if (!form.test(text)) throw new InvalidArgumentError(advice);
    return Number(text);
  };

export const wholeNumber = numberLike(/^\d{1,15}$/, 'It must be a whole number.');

/** `isLLMPublic` → `is-llm-public`. */
export const toKebab = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();

/** The exit code after Ctrl-C. */
export const INTERRUPTED = 130;
