/** Names a deployment: both parts by id or by address. */
export interface DeploymentPath {
  readonly worldAddress: string;
  readonly address: string;
}
