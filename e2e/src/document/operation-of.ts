import type { Exchange } from '@orrery/testing/system';
import { operationAt, type RoutedOperation } from '../contract/routed-operations.js';

/** The operation that a recorded request addresses, in the origin or the absolute form (RFC 9112 §3.2). */
export const operationOf = ({ method, url }: Exchange): RoutedOperation | undefined =>
  operationAt(method, pathOf(url));

/** The path of a recorded request, without its query. */
export const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/s, '');
