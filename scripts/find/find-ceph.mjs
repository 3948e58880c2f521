// Finds the programs of a Ceph cluster with an S3 gateway on this machine.
import { findProgram } from './find-program.mjs'

/**
 * @typedef {object} CephPrograms
 * @property {string} monitor ceph-mon
 * @property {string} osd ceph-osd
 * @property {string} osdMapTool osdmaptool
 * @property {string} gateway radosgw
 * @property {string} gatewayAdmin radosgw-admin
 */

/**
 * Paths of the programs, or undefined if one is missing.
 * @returns {CephPrograms | undefined}
 */
export function findCeph() {
  const [monitor, osd, osdMapTool, gateway, gatewayAdmin] = [
    'ceph-mon',
    'ceph-osd',
    'osdmaptool',
    'radosgw',
    'radosgw-admin',
  ].map((name) => findProgram({ variables: [], names: [name] }))
  if (!monitor || !osd || !osdMapTool || !gateway || !gatewayAdmin) return undefined
  return { monitor, osd, osdMapTool, gateway, gatewayAdmin }
}
