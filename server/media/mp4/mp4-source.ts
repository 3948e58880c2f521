// Where the sample tables of an MP4 file lie, as far as segments need them.

export interface Mp4Source {
  container: 'mp4'
}
