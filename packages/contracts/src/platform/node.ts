import { hash } from 'node:crypto';

/** SHA-256 over the UTF-8 bytes of a text, in 64 lowercase hex digits. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** How many bytes a text has as UTF-8. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text);
