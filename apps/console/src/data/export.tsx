import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { type DataQuery, readFound } from './queries.js';
import { asCsv, asJson, type TypedAttribute } from './rows.js';

type Format = 'csv' | 'json';
const TYPES: Record<Format, string> = { csv: 'text/csv;charset=utf-8', json: 'application/json' };

interface ExportProps {
  query: DataQuery;
  attributes: readonly TypedAttribute[];
  isOff: boolean;
}

/** Saves all that is found as a file, in the order that is shown, as it is at one entry of the journal. */
export function Export({ query, attributes, isOff }: ExportProps) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const [count, setCount] = useState(0);
  const write = useMutation({
    mutationFn: async (format: Format) => {
      setCount(0);
      const found = await readFound(orrery, ref, query, setCount);
      const text = format === 'csv' ? asCsv(attributes, found) : asJson(found);
      saveFile(`${query.schema}.${format}`, text, TYPES[format]);
    },
  });
  const button = (format: Format, words: string) => (
    <Button
      size="small"
      disabled={isOff || write.isPending}
      pending={write.isPending && write.variables === format}
      onClick={() => write.mutate(format)}
    >
      {words}
    </Button>
  );
  return (
    <>
      {button('csv', 'Export CSV')}
      {button('json', 'Export JSON')}
      {write.isPending && count > 0 && (
        <span role="status" className="text-sm text-muted">
          {count.toLocaleString('en')} read
        </span>
      )}
      <ErrorNote title="Nothing was exported" error={write.error} />
    </>
  );
}

function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
