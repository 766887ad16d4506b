import { query } from './query.js';

export interface FullDisk {
  /** How often a new temporary table was refused. */
  refusedTables(): Promise<number>;
  /** There is space again. */
  release(): Promise<void>;
}

const ERROR = `raise exception using errcode = 'disk_full', message = 'could not extend file: No space left on device'`;

/**
 * Has PostgreSQL refuse what needs new pages, as on a full disk, with its own error: rows of the table, and new tables.
 * Needs a superuser; covers this database only.
 */
export async function fillDisk(url: string, table: string): Promise<FullDisk> {
  await query(
    url,
    `
    create sequence public.refused_tables;
    create function public.refuse_row() returns trigger language plpgsql as $$ begin ${ERROR}; end $$;
    create function public.refuse_table() returns event_trigger language plpgsql as $$
      begin perform nextval('public.refused_tables'); ${ERROR}; end $$;
    create trigger full_disk before insert on ${table} for each row execute function public.refuse_row();
    create event trigger full_disk on ddl_command_end when tag in ('CREATE TABLE AS')
      execute function public.refuse_table()`,
  );
  return {
    refusedTables: async () => {
      const text = 'select last_value::int as count, is_called from public.refused_tables';
      const [row] = await query<{ count: number; is_called: boolean }>(url, text);
      return row?.is_called ? row.count : 0;
    },
    release: async () => {
      await query(
        url,
        `drop event trigger full_disk; drop trigger full_disk on ${table};
        drop function public.refuse_row, public.refuse_table; drop sequence public.refused_tables`,
      );
    },
  };
}
