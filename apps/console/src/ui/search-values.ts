import { type RegisteredRouter, type RouteIds, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Reads one value out of a page's address; undefined for what it cannot mean. */
export type Reader<Value> = (value: unknown) => Value | undefined;
type Search<Readers extends Record<string, Reader<unknown>>> = {
  [Name in keyof Readers]?: ReturnType<Readers[Name]>;
};

/** Reads what the address of a page may hold. Members that mean nothing are left out, so that it does not hold them. */
export const searchOf =
  <Readers extends Record<string, Reader<unknown>>>(readers: Readers) =>
  (search: Readonly<Record<string, unknown>>): Search<Readers> =>
    defined(Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(search[name])])));

/** A name: one of digits alone comes out of an address as a number. */
export function nameIn(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** The number of a version or of an entry. */
export const numberFromOne = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;

/** The number of a list's page, from the second on: the first one is not in the address. */
export const pageIn = (value: unknown): number | undefined =>
  value === 1 ? undefined : numberFromOne(value);

export const oneOf =
  <Value>(values: readonly Value[]): Reader<Value> =>
  (value) =>
    values.find((one) => one === value);

const defined = (members: object): never =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;

type PageId = RouteIds<RegisteredRouter['routeTree']>;
type SearchOf<Id extends PageId> = ReturnType<typeof useSearch<RegisteredRouter, Id>>;
type Change<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** What the address of the page holds, and how to change parts of it; undefined takes a part away. */
export function usePageSearch<const Id extends PageId>(from: Id, { replace = false } = {}) {
  const search = useSearch({ from } as never) as SearchOf<Id>;
  const navigate = useNavigate();
  const show = useCallback(
    (parts: Change<SearchOf<Id>>): Promise<void> =>
      navigate({
        to: '.',
        search: (before: object) => defined({ ...before, ...parts }),
        // Small steps leave no trace in the browser's history.
        ...(replace && { replace, resetScroll: false }),
      }),
    [navigate, replace],
  );
  return [search, show] as const;
}
