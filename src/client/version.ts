/** The version of this client, which a session reports (contract/sdk 6). */
export const SDK_VERSION = '0.1.0';
