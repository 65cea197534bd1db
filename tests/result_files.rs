//! Result files, from made-up rows.

use std::fs;

use flitlab::report::{PointRow, ReportError, RowWriter, Status, read_channels, read_points};

use crate::common::made_up::{Folder, sweep, torus_channels};

#[test]
fn rows_come_back_as_written() {
    let folder = Folder::new("round-trip");
    let mut rows = sweep("4x4, \"short\" routes", 0.7, 600.123, 0.1);
    rows.push(PointRow {
        series: "all to all".into(),
        status: Status::Completed,
        completion_time: Some(1_234_567),
        bandwidth: Some(4.25),
        ..PointRow::default()
    });
    rows.push(PointRow { status: Status::Deadlock, ..PointRow::default() });
    for row in &mut rows {
        for load in [&mut row.offered_load, &mut row.offered_payload, &mut row.accepted_load]
            .into_iter()
            .chain([&mut row.accepted_payload, &mut row.accepted_minimum_source])
        {
            *load = load.map(|load| (load * 1e6).round() / 1e6);
        }
    }
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in &rows {
        writer.write(row).unwrap();
    }
    let read = read_points(&path).unwrap();
    assert_eq!(read.rows, rows);
    assert_eq!(read.incomplete_line, None);

    let channels = torus_channels("a", 3);
    let path = folder.file("channels.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in &channels {
        writer.write(row).unwrap();
    }
    let read = read_channels(&path).unwrap().rows;
    assert_eq!(read.len(), channels.len());
    assert!(read.iter().zip(&channels).all(|(read, row)| read.channel == row.channel
        && (read.utilisation - row.utilisation).abs() <= 5e-7));
}

#[test]
fn cells_are_plain_decimals_and_headers_carry_units() {
    let folder = Folder::new("cells");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    writer
        .write(&PointRow {
            series: "two\nlines".into(),
            seed: 7,
            status: Status::NotSteady,
            offered_load: Some(0.1 + 0.2),
            accepted_load: Some(f64::NAN),
            packet_latency_mean: Some(1_234_567),
            packet_latency_p50: Some(200_000),
            completion_time: Some(1_500_001),
            digest: Some(0xabc),
            ..PointRow::default()
        })
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let (header, row) = text.trim_end().split_once('\n').unwrap();
    let cells: std::collections::BTreeMap<&str, &str> =
        header.split(',').zip(row.split(',')).collect();
    for (column, cell) in [
        ("series", "\"two lines\""),
        ("status", "not steady"),
        ("offered_load", "0.3"),
        ("accepted_load", ""),
        ("packet_latency_mean_ns", "1234.567"),
        ("packet_latency_p50_ns", "200"),
        ("packet_latency_p999_ns", ""),
        ("completion_time_us", "1.500001"),
        ("offered_payload_GB_per_s_per_node", ""),
        ("accepted_minimum_source_GB_per_s", ""),
        ("bandwidth_GB_per_s_per_node", ""),
        ("digest", "0000000000000abc"),
    ] {
        assert_eq!(cells.get(column), Some(&cell), "{column}");
    }
}

#[test]
fn numbers_too_large_for_six_decimals_are_read_as_written() {
    let folder = Folder::new("large-numbers");
    let numbers = [1e308, -1e305, 4e9 + 0.125, 9_007_199_254.740_993, f64::MIN_POSITIVE];
    let row = |&load: &f64| PointRow { offered_load: Some(load), ..PointRow::default() };
    let rows: Vec<PointRow> = numbers.iter().map(row).collect();
    RowWriter::write_file(folder.file("points.csv"), &rows).unwrap();
    let read = read_points(folder.file("points.csv")).unwrap().rows;
    let read: Vec<f64> = read.iter().map(|row| row.offered_load.unwrap()).collect();
    assert_eq!(read, [1e308, -1e305, 4e9 + 0.125, 9_007_199_254.740_993, 0.0]);
}

#[test]
fn a_row_cut_short_is_left_out_and_replaced() {
    let folder = Folder::new("cut");
    let path = folder.file("points.csv");
    let rows = sweep("a", 0.7, 600.0, 0.25);
    let mut writer = RowWriter::create(&path).unwrap();
    writer.write(&rows[0]).unwrap();
    writer.write(&rows[1]).unwrap();
    drop(writer);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 30]).unwrap();

    let read = read_points(&path).unwrap();
    assert_eq!((read.rows.len(), read.incomplete_line), (1, Some(3)));

    let mut writer = RowWriter::resume(&path).unwrap();
    writer.write(&rows[1]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);

    // Cut in the header.
    fs::write(&path, &whole[..30]).unwrap();
    let mut writer = RowWriter::resume(&path).unwrap();
    writer.write(&rows[0]).unwrap();
    writer.write(&rows[1]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_foreign_file_is_neither_read_nor_continued() {
    let folder = Folder::new("foreign");
    let path = folder.file("points.csv");
    fs::write(&path, "name,load\nx,1\nno line break").unwrap();
    let error = RowWriter::<PointRow>::resume(&path).unwrap_err();
    assert!(matches!(error, ReportError::Columns { .. }), "{error}");
    assert!(RowWriter::<PointRow>::create(&path).is_err(), "an existing file is kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "name,load\nx,1\nno line break");
    let error = read_points(&path).unwrap_err().to_string();
    assert!(error.contains("points.csv: no columns series, figure, point"), "{error}");

    fs::write(&path, "").unwrap();
    assert!(read_points(&path).is_err());
    assert!(RowWriter::<PointRow>::resume(&path).is_ok());
    assert_eq!(read_points(&path).unwrap().rows, []);
}

#[test]
fn a_wrong_cell_is_named_by_file_line_and_column() {
    let folder = Folder::new("wrong");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path).unwrap();
    for row in sweep("a", 0.7, 600.0, 0.5) {
        writer.write(&row).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    for (good, bad, expected) in [
        (",123456,", ",many,", ":2: column packets: "),
        (",not steady,", ",unsteady,", ":3: column status: "),
        (",17,", ",-17,", ":2: column windows: "),
        (",0.5,", ",NaN,", ":2: column offered_load: "),
        ("0123456789abcdef", "123", ":2: column digest: "),
    ] {
        fs::write(&path, text.replacen(good, bad, 1)).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("points.csv{expected}")), "{error}");
    }
    fs::write(&path, text.replacen(",17,", ",", 1)).unwrap();
    let error = read_points(&path).unwrap_err().to_string();
    assert!(error.contains("cells where the header has"), "{error}");
}
