/** Whether a `Prefer` header asks for an answer before the work is done (RFC 7240 §4.1). */
export const prefersAsync = (prefer: string | undefined): boolean =>
  prefer
    ?.split(',')
    .some((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async') ?? false;
