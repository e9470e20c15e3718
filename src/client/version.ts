/** The version of this client, which a session reports (contract/sdk 6). */
export const SDK_VERSION = '1.0.0';
