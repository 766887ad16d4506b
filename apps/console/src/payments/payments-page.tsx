import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type PaymentTotal, paymentsQuery } from '../api/payments.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { SelectField } from '../ui/field.js';
import { Section } from '../ui/page.js';
import { Pager } from '../ui/pager.js';
import { Table } from '../ui/table.js';
import { PAYMENT_COLUMNS, TOTAL_COLUMNS } from './payment-columns.js';
import { paymentTone, STATUSES } from './payment-words.js';
import type { PaymentsSearch } from './payments-search.js';

/** What wallets have paid for executions. */
export function PaymentsPage() {
  const from = '/worlds/$world/deployments/$deployment/payments';
  const { status, page = 1 } = useSearch({ from });
  const navigate = useNavigate({ from });
  const show = (change: PaymentsSearch) => void navigate({ search: (search) => ({ ...search, ...change }) });
  const query = useQuery(paymentsQuery(useOrrery(), useDeploymentRef(), { page, status }));
  return (
    <Await query={query} what="the payments">
      {({ data, totals, pagination }) =>
        totals.length === 0 ? (
          <NoPayments />
        ) : (
          <>
            <Totals totals={totals} />
            <Section
              title="Payments"
              actions={
                <SelectField
                  label="Show"
                  className="flex items-baseline gap-2"
                  value={status ?? ''}
                  onChange={(next) => show({ status: STATUSES.find((one) => one === next), page: 1 })}
                  options={[['', 'all'], ...STATUSES.map((one) => [one, one] as const)]}
                />
              }
            >
              {data.length === 0 ? (
                <Empty title={`No payment is ${status}.`} />
              ) : (
                <Table
                  label="Payments"
                  columns={PAYMENT_COLUMNS}
                  rows={data}
                  rowKey={({ paymentKey }) => paymentKey}
                />
              )}
              <Pager pagination={pagination} what="payments" onPage={(next) => show({ page: next })} />
            </Section>
          </>
        )
      }
    </Await>
  );
}

const Totals = ({ totals }: { totals: readonly PaymentTotal[] }) => (
  <Section title="Totals" lead="All payments, by asset and status.">
    <Table
      label="Totals"
      columns={TOTAL_COLUMNS}
      rows={totals}
      rowKey={({ network, asset, status }) => `${network} ${asset} ${status}`}
    />
  </Section>
);

const NoPayments = () => (
  <Empty
    title="Nobody has paid here yet."
    action={
      <ButtonLink to="/worlds/$world/deployments/$deployment/settings" params={useDeploymentRef()}>
        Settings
      </ButtonLink>
    }
  >
    Wallets pay for public events that have a price. The deployment must be published, and have an address
    that payments go to. <Badge tone={paymentTone('settled')}>settled</Badge> payments are shown here with
    their transactions.
  </Empty>
);
