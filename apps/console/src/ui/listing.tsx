import type { Page as ListPage } from '@orrery/sdk';
import { type ReactNode, useState } from 'react';
import { Await, type AwaitProps } from './messages.js';
import { Empty, Section } from './page.js';
import { type Column, Pager, Table, type TableProps } from './table.js';
import { Time } from './values.js';

export interface ListingProps<Row> extends Pick<TableProps<Row>, 'columns' | 'rowKey'> {
  query: AwaitProps<ListPage<Row>>['query'];
  /** What the list has: "events". */
  what: string;
  /** For screen readers; what the list has, by default. */
  label?: string;
  empty: ReactNode;
  onPage?: (page: number) => void;
  /** Of a list that the API gives whole: by what one finds an item of a long one. */
  nameOf?: (row: Row) => string;
}

/** A list of the API as a table: while it is read, where it is empty, page by page. */
export const Listing = <Row,>({ query, what, label, empty, onPage, nameOf, ...table }: ListingProps<Row>) => (
  <Await query={query} what={`the ${what}`}>
    {({ data, pagination }) =>
      data.length === 0 ? (
        empty
      ) : (
        <>
          <Find what={what} items={data} nameOf={nameOf}>
            {(found) => <Table label={label ?? capitalized(what)} rows={found} {...table} />}
          </Find>
          {onPage && <Pager pagination={pagination} what={what} onPage={onPage} />}
        </>
      )
    }
  </Await>
);

const capitalized = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

export interface ListSectionProps<Row> extends Omit<ListingProps<Row>, 'empty'> {
  lead: string;
  title?: string;
  /** Makes a new item; false for who may not. */
  create: ReactNode;
  /** What is said where there is no item yet. */
  empty: string;
  foot?: ReactNode;
  children: ReactNode;
}

/** A list as a section of a page; without an item it says what one is, and offers to make the first. */
export function ListSection<Row>(props: ListSectionProps<Row>) {
  const { lead, title, create, empty, foot, children, ...list } = props;
  const { query, what } = list;
  return (
    <Section
      title={title ?? capitalized(what)}
      lead={lead}
      actions={query.data && query.data.data.length > 0 && create}
    >
      <Listing
        {...list}
        empty={
          <Empty title={empty} action={create}>
            {children}
          </Empty>
        }
      />
      {foot}
    </Section>
  );
}

/** Shorter lists are seen at a glance. */
const LONG = 20;

interface FindProps<Row> {
  what: string;
  items: readonly Row[];
  nameOf: ((row: Row) => string) | undefined;
  children: (found: readonly Row[]) => ReactNode;
}

function Find<Row>({ what, items, nameOf, children }: FindProps<Row>) {
  const [text, setText] = useState('');
  if (nameOf === undefined || items.length <= LONG) return children(items);
  const wanted = text.trim().toLowerCase();
  const found = items.filter((item) => nameOf(item).toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        aria-label={`Find ${what}`}
        placeholder={`Find among ${items.length} ${what}`}
        className="control mb-2 max-w-md"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {found.length === 0 ? <p className="py-3 text-muted">None has this in its name.</p> : children(found)}
    </>
  );
}

export const CHANGED: Column<{ updatedAt: string }> = {
  header: 'Changed',
  wideOnly: true,
  cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast />,
};
