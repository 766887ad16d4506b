import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { config } from 'zod';

// Zod would try whether it may make code of text, which the policies of our pages refuse and report.
config({ jitless: true });

const encoder = new TextEncoder();

/** SHA-256 over the UTF-8 bytes of a text, in 64 lowercase hex digits. */
export const sha256Hex = (text: string): string => bytesToHex(sha256(encoder.encode(text)));

/** How many bytes a text has as UTF-8. */
export const utf8Bytes = (text: string): number => encoder.encode(text).length;
