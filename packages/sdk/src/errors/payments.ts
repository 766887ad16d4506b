import { parseJson } from '../json/parse-json.js';

/** What a 402 asks for, as x402 version 2 says it (https://x402.org). */
export interface PaymentRequired {
  readonly x402Version: number;
  readonly accepts: readonly PaymentRequirement[];
  readonly [member: string]: unknown;
}
export interface PaymentRequirement {
  readonly scheme: string;
  readonly network: string;
  readonly asset: string;
  /** In the asset's smallest unit. */
  readonly amount: string;
  readonly payTo: string;
  readonly [member: string]: unknown;
}

/** Makes a payment. An `x402Client` of `@x402/core`, `@x402/fetch` is one; its spend controls bound what it pays. */
export interface Payer {
  createPaymentPayload(required: never): Promise<object>;
}

/** How a payment was settled. */
export interface Settlement {
  readonly success: boolean;
  readonly transaction?: string;
  readonly network?: string;
  readonly payer?: string;
  readonly [member: string]: unknown;
}

/** The JSON object of a payment header, which is base64 of its UTF-8; null where there is none. */
export function decodeHeader<T>(header: string | null): T | null {
  try {
    const bytes = Uint8Array.from(atob(header ?? ''), (character) => character.charCodeAt(0));
    const value = parseJson(new TextDecoder().decode(bytes));
    return typeof value === 'object' ? (value as T) : null;
  } catch {
    return null;
  }
}

export const encodeHeader = (value: object): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))));
