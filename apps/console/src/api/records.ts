import type { components } from '@orrery/sdk';

type Records = components['schemas'];

export type World = Records['World'];
export type EntitySchema = Records['EntitySchema'];
export type Attribute = Records['Attribute'];
export type Event = Records['Event'];
export type EventVersion = Records['EventVersion'];
export type Deployment = Records['Deployment'];
export type NewDeployment = Records['NewDeployment'];
export type NewInstance = Records['NewEntityInstance'];
export type EventBinding = Records['EventBinding'];
export type Schedule = Records['Schedule'];
export type Occurrence = Records['Occurrence'];
export type Timer = Records['Timer'];
export type Push = Records['Push'];
export type Webhook = Records['Webhook'];
export type WebhookDelivery = Records['WebhookDelivery'];
export type Payment = Records['Payment'];
export type PaymentTotal = Records['PaymentTotal'];
export type Overview = Records['DeploymentOverview'];
export type AiUsage = Records['AiUsage'];
export type Key = Records['Key'];
export type Me = Records['Me'];

/** A deployment as a page's address names it: by ids or addresses. */
export interface DeploymentRef {
  readonly world: string;
  readonly deployment: string;
}
