/** What keeps two billing operations of an organization apart while a gateway is asked. */
export const billingLease = (organizationId: string): string => `billing:${organizationId}`;
