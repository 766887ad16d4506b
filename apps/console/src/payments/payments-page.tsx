import { DEPLOYMENT, deploymentPath, useDeploymentRef } from '../api/deployments.js';
import { REFRESHED, usePage } from '../api/read.js';
import type { Payment, PaymentTotal } from '../api/records.js';
import { EntryLink } from '../deployments/entry-link.js';
import { ButtonLink } from '../ui/button.js';
import { Filter } from '../ui/field.js';
import { Await } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { type Column, Pager, Table } from '../ui/table.js';
import { formatAmount } from '../ui/typed-text.js';
import { Badge, CopyableCode, explorerLink, Time, Transaction } from '../ui/values.js';
import { paymentMeaning, paymentTone, STATUSES } from './payment-words.js';

export default function PaymentsPage() {
  const [{ status, page = 1 }, show] = usePageSearch('/worlds/$world/deployments/$deployment/payments');
  const query = usePage(
    `${DEPLOYMENT}/payments`,
    deploymentPath(useDeploymentRef()),
    { page, status },
    REFRESHED,
  );
  return (
    <Await query={query} what="the payments">
      {({ data, totals, pagination }) =>
        totals.length === 0 ? (
          <NoPayments />
        ) : (
          <>
            <Section title="Totals" lead="All payments, by asset and status.">
              <Table
                label="Totals"
                columns={TOTAL_COLUMNS}
                rows={totals}
                rowKey={(total) => `${total.network} ${total.asset} ${total.status}`}
              />
            </Section>
            <Section
              title="Payments"
              actions={
                <Filter
                  label="Show"
                  className="flex items-baseline gap-2"
                  value={status}
                  onChange={(next) => void show({ status: next, page: undefined })}
                  values={STATUSES}
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
              <Pager
                pagination={pagination}
                rows={data.length}
                what="payments"
                onPage={(next) => void show({ page: next })}
              />
            </Section>
          </>
        )
      }
    </Await>
  );
}

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

type Money = Pick<Payment, 'amount' | 'decimals' | 'network' | 'asset'>;

const Amount = ({ money: { amount, decimals, network, asset } }: { money: Money }) => (
  <span title={`${amount} units of ${asset} on ${network}`} className="whitespace-nowrap">
    {formatAmount(amount, decimals)}
  </span>
);

const TOTAL_COLUMNS: readonly Column<PaymentTotal>[] = [
  {
    header: 'Status',
    cell: ({ status }) => (
      <>
        <Badge tone={paymentTone(status)}>{status}</Badge>{' '}
        <span className="text-sm text-muted">{paymentMeaning(status)}</span>
      </>
    ),
  },
  { header: 'Amount', alignRight: true, cell: (total) => <Amount money={total} /> },
  { header: 'Payments', alignRight: true, cell: ({ payments }) => payments.toLocaleString('en') },
  {
    header: 'Asset',
    cell: ({ network, asset }) => (
      <>
        {network} <CopyableCode text={asset} what={`asset on ${network}`} short />
      </>
    ),
  },
];

const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { header: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Amount', alignRight: true, cell: (payment) => <Amount money={payment} /> },
  {
    header: 'Status',
    className: 'min-w-44',
    cell: ({ status, reason }) => (
      <>
        <Badge tone={paymentTone(status)}>{status}</Badge>
        <p className="mt-0.5 text-sm text-muted">{reason ?? paymentMeaning(status)}</p>
      </>
    ),
  },
  { header: 'Payer', cell: ({ payer }) => <CopyableCode text={payer} what="payer" short /> },
  { header: 'Network', cell: ({ network }) => network },
  {
    header: 'Transaction',
    cell: ({ network, transaction }) => (
      <Transaction
        transaction={transaction}
        link={transaction === null ? undefined : explorerLink(network, transaction)}
      />
    ),
  },
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
];
