import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { chainsQuery, pushesQuery } from '../api/pushes.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { SelectField } from '../ui/field.js';
import { Pager } from '../ui/pager.js';
import { Table } from '../ui/table.js';
import { PUSH_COLUMNS } from './push-columns.js';
import { STATES } from './push-words.js';
import type { PushesSearch } from './pushes-search.js';

/** What of the deployment goes to chains, and how it stands. */
export function PushesPage() {
  const ref = useDeploymentRef();
  const from = '/worlds/$world/deployments/$deployment/pushes';
  const { chain, state, page = 1 } = useSearch({ from });
  const navigate = useNavigate({ from });
  const show = (change: PushesSearch) => void navigate({ search: (search) => ({ ...search, ...change }) });
  const orrery = useOrrery();
  const chains = useQuery(chainsQuery(orrery));
  const query = useQuery(pushesQuery(orrery, ref, { page, chain, state }));
  const isFiltered = chain !== undefined || state !== undefined;
  return (
    <>
      <div className="mb-4 grid max-w-xl grid-cols-2 gap-3">
        <SelectField
          label="Chain"
          value={chain ?? ''}
          onChange={(next) => show({ chain: next || undefined, page: 1 })}
          options={[['', 'all'], ...(chains.data?.data ?? []).map(({ name }) => [name, name] as const)]}
        />
        <SelectField
          label="Status"
          value={state ?? ''}
          onChange={(next) => show({ state: STATES.find((one) => one === next), page: 1 })}
          options={[['', 'all'], ...STATES.map((one) => [one, one] as const)]}
        />
      </div>
      <Await query={query} what="the pushes">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <NoPushes isFiltered={isFiltered} hasChains={(chains.data?.data.length ?? 0) > 0} />
          ) : (
            <>
              <Table
                label="Pushes"
                columns={PUSH_COLUMNS}
                rows={data}
                rowKey={(push) => `${push.chain} ${push.historyId}`}
              />
              <Pager pagination={pagination} what="pushes" onPage={(next) => show({ page: next })} />
            </>
          )
        }
      </Await>
    </>
  );
}

function NoPushes({ isFiltered, hasChains }: { isFiltered: boolean; hasChains: boolean }) {
  const ref = useDeploymentRef();
  if (isFiltered) return <Empty title="No push is like that." />;
  if (!hasChains)
    return (
      <Empty title="This server has no chain to push to.">
        The operator names chains in the file CHAINS_FILE. Then bindings can name them, and each succeeded
        execution is pushed.
      </Empty>
    );
  return (
    <Empty
      title="Nothing was pushed yet."
      action={
        <ButtonLink to="/worlds/$world/deployments/$deployment/settings" params={ref}>
          Bindings
        </ButtonLink>
      }
    >
      Choose chains for an event among the bindings: each succeeded execution of it is pushed to them.
    </Empty>
  );
}
